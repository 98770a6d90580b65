import { describeDirect } from '../direct-behaviour.ts'

describeDirect('lowest')
