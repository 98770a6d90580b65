import { answersWithRealNext } from '../helpers/describe-next.ts'

answersWithRealNext('lowest')
