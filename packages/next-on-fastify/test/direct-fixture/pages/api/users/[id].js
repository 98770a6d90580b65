export default function handler({ query }, response) {
  response.json(query)
}
