import { describeVariant } from '../memory-variants.ts'

describeVariant('lowest', 'trailingSlash')
