export default function handler(request, response) {
  response.send(request.body)
}

export const config = { api: { bodyParser: { sizeLimit: '10b' } } }
