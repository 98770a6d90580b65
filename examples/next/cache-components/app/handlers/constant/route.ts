export const GET = (): Response => Response.json({ always: 'the same' })
