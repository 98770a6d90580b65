import { describeDirect } from '../direct-behaviour.ts'

describeDirect('newest')
