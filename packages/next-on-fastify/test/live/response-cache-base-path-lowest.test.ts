import { describeVariant } from '../helpers/describe-url-variants.ts'

describeVariant('lowest', 'basePath')
