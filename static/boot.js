// Says why, where the page cannot start. The page itself removes #boot; until then this text is all there is.
(function () {
  'use strict';
  function tell(reason) {
    var state = document.getElementById('boot-state');
    if (state) state.textContent = 'The simulation could not start: ' + reason;
  }
  function crash(reason) {
    if (document.getElementById('boot')) return tell(reason);
    var box = document.getElementById('crash');
    if (!box) {
      box = document.createElement('div');
      box.id = 'crash';
      box.setAttribute('role', 'alert');
      document.body.prepend(box);
    }
    box.textContent = 'The page broke off: ' + reason + ' Reload it to go on.';
  }
  window.addEventListener('error', function (event) {
    var target = event.target;
    if (target && target !== window && (target.src || target.href)) tell('the file ' + (target.src || target.href) + ' was not found.');
    else if (event.error instanceof WebAssembly.RuntimeError) crash(event.message + '.');
    else tell(event.message + '.');
  }, true);
  window.addEventListener('unhandledrejection', function (event) {
    var reason = event.reason && event.reason.message ? event.reason.message : String(event.reason);
    if (/CompileError|magic word|wasm/i.test(String(event.reason)) && document.getElementById('boot')) {
      reason += ' (a server that answers with a page instead of the .wasm file, or a content security policy without \'wasm-unsafe-eval\', looks like this)';
    }
    tell(reason + '.');
  });
  document.addEventListener('DOMContentLoaded', function () {
    var state = document.getElementById('boot-state');
    if (state && !state.textContent) state.textContent = 'Loading the simulation.';
    if (typeof WebAssembly !== 'object') tell('this browser has no WebAssembly.');
  });
})();
