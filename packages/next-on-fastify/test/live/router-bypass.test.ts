import { describeDirect } from '../helpers/describe-router-bypass.ts'

describeDirect('newest')
