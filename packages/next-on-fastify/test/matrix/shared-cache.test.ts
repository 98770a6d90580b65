import { inject } from 'vitest'
import { sharesCache } from '../helpers/describe-shared-cache.ts'

sharesCache(inject('peers'), inject('processes'))
