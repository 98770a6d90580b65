export default async function handler(request, response) {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  response.send(String(bytes))
}

export const config = { api: { bodyParser: false } }
