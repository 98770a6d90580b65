export { GET, POST } from '../../../../web/app/handlers/dynamic/route'
