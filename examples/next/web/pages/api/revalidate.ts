import type { NextApiRequest, NextApiResponse } from 'next'

export default async function handler({ query }: NextApiRequest, response: NextApiResponse): Promise<void> {
  await response.revalidate(String(query['path']))
  response.status(200).json({ path: query['path'] })
}
