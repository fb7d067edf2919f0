// Stands between the conformance suite and the gateway, and gives each request the token that the gateway wants of a
// client: the suite has no option for one. Arguments: the gateway's port, and the token. Prints its own port.
import http from "node:http";

const [port, token] = process.argv.slice(2);
const proxy = http.createServer((request, response) => {
  const headers = [...request.rawHeaders, "Authorization", `Bearer ${token}`];
  const { method, url: path } = request;
  const onward = http.request({ host: "127.0.0.1", port, method, path, headers, setHost: false }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
