export default function handler(request, response) {
  const { method, query, body, url, headers, cookies } = request
  const { connection: _, ...others } = headers
  response.status(200).json({ method, query, body: body ?? null, url, headers: others, cookies })
}
