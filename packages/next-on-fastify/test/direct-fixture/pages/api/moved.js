export default function handler(_, response) {
  response.redirect(307, '/ssr')
}
