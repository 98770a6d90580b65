import { runOf } from '../../../runs'

export const dynamic = 'force-dynamic'

export function GET() {
  runOf('handler throws')
  throw new Error('The handler has failed')
}
