import { describe, inject } from 'vitest'
import { sharesCache } from '../helpers/describe-shared-cache.ts'
import { isMissing, redisServer } from '@test/redis-server'

describe.skipIf(isMissing)('machines that share a Redis', () => {
  const redis = redisServer()
  sharesCache(inject('peers'), [2], redis.path)
})
