export default function handler({ query }, response) {
  const answer = JSON.stringify(query)
  query.parts.push('changed')
  response.setHeader('content-type', 'application/json').end(answer)
}
