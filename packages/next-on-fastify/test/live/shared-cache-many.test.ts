import { sharesCache } from '../shared-behaviour.ts'

sharesCache('newest', [4])
