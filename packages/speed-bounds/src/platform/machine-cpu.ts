import { cpus } from 'node:os'
import { canReadProc, readText, TICK } from './proc-files.ts'

/** CPU time of the whole machine, in milliseconds. */
export interface MachineTimes {
  /** All but idle time: that of its programs, and `stolen`. */
  readonly busy: number
  /** Time in which it had work, and its hypervisor ran other guests. 0 where the system does not tell. */
  readonly stolen: number
}

/** CPU in cores. Kernel counters advance in steps of 10 ms, so a value slightly below zero is noise. */
export function coresOf(cpu: number, time: number): number {
  return Math.max(0, cpu / time)
}

export function machineTimes(): MachineTimes {
  if (canReadProc) {
    // os.cpus() leaves out soft interrupts, in which the kernel does much of its work for sockets.
    const [, user, nice, system, , , irq, softirq, steal] = (readText('/proc/stat') ?? '').split(/\s+/, 9).map(Number)
    return { busy: TICK * (user! + nice! + system! + irq! + softirq! + steal!), stolen: TICK * steal! }
  }
  return {
    busy: cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0),
    stolen: 0,
  }
}
