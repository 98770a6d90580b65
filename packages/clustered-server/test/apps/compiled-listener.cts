// NestJS's `main.ts`, compiled: there are no exports, and it listens later.
Object.defineProperty(exports, '__esModule', { value: true })
setTimeout(() => {
  const { default: app } = require('./faults.ts') as { default: () => import('node:http').Server }
  app().listen(process.env.PORT)
}, 100)
