import type { NextApiRequest, NextApiResponse } from 'next'

export default function handler({ query }: NextApiRequest, response: NextApiResponse): void {
  response.status(200).json(query)
}
