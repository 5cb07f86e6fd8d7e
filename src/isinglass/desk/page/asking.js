// Requests to the desk. What goes wrong is an Error whose message is a sentence.

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(location.pathname + path, options);
  } catch {
    throw new Error("The desk does not answer. If it was ended, start it again and choose the file again.");
  }
  const body = await answer.text();
  let document = {};
  try {
    document = JSON.parse(body);
  } catch {
    document = { sentence: body };
  }
  if (!answer.ok) throw new Error(document.sentence || "The desk refused this request.");
  return document;
}

function send(path, document) {
  return ask(path, { method: "POST", body: JSON.stringify(document) });
}

function upload(file) {
  return ask("tables?name=" + encodeURIComponent(file.name), { method: "POST", body: file });
}

function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

function counted(number, noun) {
  return number.toLocaleString("en") + " " + noun + (number === 1 ? "" : "s");
}

function sizeOf(bytes) {
  return bytes >= 1e6 ? (bytes / 1e6).toFixed(1) + " MB" : bytes >= 1e3 ? Math.round(bytes / 1e3) + " kB" : counted(bytes, "byte");
}
