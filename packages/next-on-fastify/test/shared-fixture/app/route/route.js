import { version } from '../../version.js'

export const dynamic = 'force-static'
export const revalidate = 2_592_000

export async function GET() {
  return new Response(`version ${await version('route')}`)
}
