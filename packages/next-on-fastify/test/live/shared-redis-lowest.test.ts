import { describe } from 'vitest'
import { sharesCache } from '../shared-behaviour.ts'
import { isMissing, redisServer } from './redis-server.ts'

describe.skipIf(isMissing)('machines that share a Redis', () => {
  const redis = redisServer()
  sharesCache('lowest', [2], redis.path)
})
