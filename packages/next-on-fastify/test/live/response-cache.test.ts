import { describeMemory } from '../helpers/describe-response-cache.ts'

describeMemory('newest')
