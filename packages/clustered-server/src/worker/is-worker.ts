import { PRIMARY_PID } from '../ipc/messages.ts'

/** Whether this process is a worker. Child processes of a worker inherit its environment, but have another parent. */
export const isWorker: boolean = process.connected && process.env[PRIMARY_PID] === String(process.ppid)
