import { draftMode } from 'next/headers'

export async function GET(_: Request, { params }: { params: Promise<{ state: string }> }): Promise<Response> {
  const { state } = await params
  const mode = await draftMode()
  if (state === 'on') mode.enable()
  else mode.disable()
  return new Response(`Drafts are ${state}`)
}
