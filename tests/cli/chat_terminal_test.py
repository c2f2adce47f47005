"""Talks to `rml chat` on a pseudo-terminal: Ctrl-C stops the answer and not the program, a broken-off
line begins anew, commands answer, Ctrl-D leaves.

usage: chat_terminal_test.py RML TESTDATA
"""
import os
import pty
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT = 60  # seconds for each expected text


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, arguments, environment):
        self.output = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(arguments[0], arguments, environment)

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text):
        """Reads until `text` has come; what came before it is forgotten."""
        end = time.monotonic() + TIMEOUT
        while text not in self.output:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"no {text!r} in {self.output[-500:]!r}")
            try:
                self.output += os.read(self.fd, 65536).decode(errors="replace")
            except OSError as error:  # the program has ended
                raise AssertionError(f"ended without {text!r}: {self.output[-500:]!r}") from error
        self.output = self.output.split(text, 1)[1]

    def expect_prompt(self):
        """Ready for keys: what is typed before, Ctrl-D for one, is the terminal's own to interpret."""
        self.expect("> ")

    def exit_code(self):
        """Reads what is still to come, so that the program can end."""
        try:
            while select.select([self.fd], [], [], TIMEOUT)[0]:
                os.read(self.fd, 65536)
        except OSError:  # the program has ended
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("the program does not end")


def main():
    rml, testdata = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder, "t.jinja")
        template.write_text("{% for m in messages %}{{ m.content }}\n{% endfor %}")
        saved = Path(folder, "talk.json")
        environment = dict(os.environ, XDG_CACHE_HOME=folder, TERM="xterm")
        chat = Terminal([rml, "chat", f"{testdata}/stories260k.gguf", "--chat-template-file", str(template),
                         "--ignore-eos", "--context-shift", "-n", "100000000"], environment)
        chat.expect("/help lists the commands")
        chat.expect_prompt()
        chat.send("Once upon a time\n")
        chat.expect("Once upon a time")
        time.sleep(0.5)
        chat.send("\x03")
        chat.expect("[stopped]")
        chat.expect_prompt()
        chat.send("half a li\x03")  # at the prompt it drops the line
        chat.expect("^C")
        chat.expect_prompt()
        chat.send("\x03")  # and again
        chat.expect("^C")
        for command, answer in (("/stats", "answer:"), (f"/save {saved}", "saved 2 messages"), ("/reset", "\n"),
                                (f"/load {saved}", "loaded 2 messages"),
                                ("/nonsense", "there is no command /nonsense")):
            chat.expect_prompt()
            chat.send(command + "\n")
            chat.expect(answer)
        chat.expect_prompt()
        chat.send("\x04")
        code = chat.exit_code()
        assert code == 0, f"exit code {code}"
        assert Path(folder, "rml", "chat_history").exists(), "the history is not kept"
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
