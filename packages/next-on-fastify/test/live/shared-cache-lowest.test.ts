import { sharesCache } from '../shared-behaviour.ts'

sharesCache('lowest')
