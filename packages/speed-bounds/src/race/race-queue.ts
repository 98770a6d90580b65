import { openSupervisor, type Supervisor } from '../subject/supervisor.ts'

/** Races and loads of one process run one after the other, because concurrent ones would measure each other. */
let lastRace: Promise<unknown> = Promise.resolve()

/** Does work when all earlier work has ended, with a supervisor that ends its processes. */
export async function exclusively<T>(signal: AbortSignal, work: (supervisor: Supervisor) => Promise<T>): Promise<T> {
  const before = lastRace
  const { promise, resolve } = Promise.withResolvers<void>()
  lastRace = promise
  await before
  try {
    signal.throwIfAborted()
    const supervisor = await openSupervisor()
    try {
      return await work(supervisor)
    } finally {
      await supervisor.close()
    }
  } finally {
    resolve()
  }
}
