export default function handler(request, response) {
  response.setHeader('set-cookie', ['a=1', 'b=2', 'a=1'])
  if ('draft' in request.query) response.setDraftMode({ enable: request.query.draft === 'on' })
  response.send(request.cookies.session ?? 'nobody')
}
