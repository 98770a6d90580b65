import { version } from '../../version.js'

export const dynamic = 'force-static'
export const revalidate = 3600

export async function GET() {
  return new Response(`version ${await version('route')}`)
}
