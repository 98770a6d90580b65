import type { NextApiRequest, NextApiResponse } from 'next'

export default function handler(_: NextApiRequest, response: NextApiResponse): void {
  response.status(200).json({ message: 'hello' })
}
