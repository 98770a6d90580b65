import { describeAfterProxy } from '../after-proxy-behaviour.ts'

describeAfterProxy('lowest')
