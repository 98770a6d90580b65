import { describe } from 'vitest'
import { sharesCache } from '../helpers/describe-shared-cache.ts'
import { isMissing, redisServer } from '../helpers/redis-server.ts'

describe.skipIf(isMissing)('machines that share a Redis', () => {
  const redis = redisServer()
  sharesCache('lowest', [2], redis.path)
})
