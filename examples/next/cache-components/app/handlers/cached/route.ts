import { numbers } from '../../../numbers'

export async function GET(): Promise<Response> {
  return Response.json({ numbers: await numbers() })
}
