export { answer as default } from './faults.ts'
