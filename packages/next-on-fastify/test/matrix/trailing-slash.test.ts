import { inject } from 'vitest'
import { describeVariant } from '../helpers/describe-url-variants.ts'

describeVariant(inject('peers'), 'trailingSlash')
