import type { NextApiRequest, NextApiResponse } from 'next'

export default function handler({ method, query, body }: NextApiRequest, response: NextApiResponse): void {
  response.status(200).json({ method, query, body: body as unknown })
}
