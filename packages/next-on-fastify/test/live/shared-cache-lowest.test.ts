import { sharesCache } from '../helpers/describe-shared-cache.ts'

sharesCache('lowest')
