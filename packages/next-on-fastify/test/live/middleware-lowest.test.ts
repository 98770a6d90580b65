import { describeAfterProxy } from '../helpers/describe-middleware.ts'

describeAfterProxy('lowest')
