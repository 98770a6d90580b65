import { answersWithRealNext } from './real-next.ts'

answersWithRealNext('lowest')
