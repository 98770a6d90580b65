import { describeMemory } from '../memory-behaviour.ts'

describeMemory('newest')
