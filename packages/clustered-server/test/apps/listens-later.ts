import { setTimeout as wait } from 'node:timers/promises'
import faults from './faults.ts'

// As `bootstrap()` of NestJS or `main()` of others: nothing is exported, and nobody awaits it.
async function main(): Promise<void> {
  await wait(300)
  faults().listen(process.env['PORT'])
}
void main()
