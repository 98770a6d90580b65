import { renderOf } from '../../../renders'

export const dynamic = 'force-static'
export const revalidate = 2592000

export function GET(): Response {
  return Response.json({ render: renderOf('handler isr') })
}
