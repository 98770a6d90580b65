import { openSupervisor, type Supervisor } from '../subject/supervisor.ts'

/** Races of one process run one after the other, because concurrent ones would measure each other. */
let lastRace: Promise<unknown> = Promise.resolve()

/** Does the work of a race when all earlier ones have ended, with a supervisor that ends its processes. */
export async function exclusively(signal: AbortSignal, work: (supervisor: Supervisor) => Promise<void>): Promise<void> {
  const before = lastRace
  const { promise, resolve } = Promise.withResolvers<void>()
  lastRace = promise
  await before
  try {
    signal.throwIfAborted()
    const supervisor = await openSupervisor()
    try {
      await work(supervisor)
    } finally {
      await supervisor.close()
    }
  } finally {
    resolve()
  }
}
