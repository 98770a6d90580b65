export default function handler({ query, body }, response) {
  response.json({ query, body })
}
