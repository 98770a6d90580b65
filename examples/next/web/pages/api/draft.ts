import type { NextApiRequest, NextApiResponse } from 'next'

export default function handler({ query }: NextApiRequest, response: NextApiResponse): void {
  response.setDraftMode({ enable: query['on'] !== undefined })
  response.status(200).send('done')
}
