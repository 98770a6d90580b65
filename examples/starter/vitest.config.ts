import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'app', include: ['test/app.test.ts'] } },
      // Races measure CPU: one file at a time, and more than the five seconds of a usual test.
      { test: { name: 'speed', include: ['test/speed.test.ts'], fileParallelism: false, testTimeout: 120_000 } },
    ],
  },
})
