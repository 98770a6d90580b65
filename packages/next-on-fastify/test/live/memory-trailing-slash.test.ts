import { describeVariant } from '../memory-variants.ts'

describeVariant('newest', 'trailingSlash')
