import { sharesCache } from '../helpers/describe-shared-cache.ts'

sharesCache('newest', [2])
