import { cpus } from 'node:os'
import { canReadProc, readText, TICK } from './proc-files.ts'

/** CPU time of the whole machine, including the time that its hypervisor gave to others, in milliseconds. */
export function machineBusyTime(): number {
  if (canReadProc) {
    // os.cpus() leaves out soft interrupts, in which the kernel does much of its work for sockets.
    const [, user, nice, system, , , irq, softirq, steal] = (readText('/proc/stat') ?? '').split(/\s+/, 9).map(Number)
    return TICK * (user! + nice! + system! + irq! + softirq! + steal!)
  }
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}
